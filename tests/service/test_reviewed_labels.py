"""A stream whose policy knows that labels may be wrong decides over HTTP as it does in this process."""

import appletaste as at

from .serving import COSTS, Running, item, new_store

ERRORS = {"sensitivity": 0.9, "specificity": 0.95}


def made(store, errors):
    policy = at.policy("voi", n_features=3, costs=COSTS, **errors)
    return at.Stream.create(store, "doubted", at.streams.Awaiting(policy), seed=7)


def test_over_http_as_here(tmp_path):
    store = new_store(tmp_path)
    made(store, ERRORS).close()
    here, other = made("memory", ERRORS), made("memory", {})
    with Running(store) as service:
        key, path = service.key(), "/v1/streams/doubted/decisions"
        for k in range(80):
            told = service.ask("POST", path, {"id": f"case-{k}", "item": item(k)}, key=key).json()
            for stream in (here, other):
                answer = stream.decide(item(k), id=f"case-{k}")
                if stream is here:
                    assert (told["act"], told["probability"]) == (answer.act, answer.probability)
                    assert told["chance"] == answer.chance
                if answer.act and k % 3:
                    stream.label(f"case-{k}", int(item(k)[0] > 0))
            if told["act"] and k % 3:
                body = {"value": int(item(k)[0] > 0)}
                assert service.ask("PUT", f"{path}/case-{k}/label", body, key=key).status == 200
    assert here.find("case-79").answer.chance != other.find("case-79").answer.chance  # or nothing would be proved
    with at.Stream.open(store, "doubted") as stream:
        assert "bit for bit" in str(stream.verify())
        assert stream.player.policy.learner.belief.link == at.posteriors.link_of(**ERRORS)
    store.close()
