"""What a team would write in an afternoon: FastAPI, a scikit-learn model, and an SQLite commit for each request."""

from __future__ import annotations

import sqlite3
import sys

import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.linear_model import LogisticRegression

FEATURES = 20


class Item(BaseModel):
    """An item to decide on."""

    id: str
    item: list[float]


def build(path: str) -> FastAPI:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, FEATURES))
    model = LogisticRegression().fit(X, rng.random(2000) < 1 / (1 + np.exp(-X[:, 0])))
    database = sqlite3.connect(path, check_same_thread=False)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE IF NOT EXISTS decisions (id TEXT PRIMARY KEY, item BLOB, chance REAL, act INTEGER)")
    app = FastAPI()

    @app.post("/decisions")
    async def decide(asked: Item) -> dict[str, object]:
        x = np.array(asked.item)
        chance = float(model.predict_proba(x[None])[0, 1])
        act = chance > 1 / 6
        database.execute("INSERT INTO decisions VALUES (?, ?, ?, ?)", (asked.id, x.tobytes(), chance, act))
        database.commit()
        return {"id": asked.id, "act": act, "chance": chance}

    return app


if __name__ == "__main__":
    uvicorn.run(build(sys.argv[1]), port=int(sys.argv[2]), access_log=False, log_level="warning")
