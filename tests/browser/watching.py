"""What must never happen in a page, whatever a test does: console errors, CSP violations, requests to elsewhere."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

#: Runs before any script of the page; a violation is told as an error of the console.
WATCH = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
}, true);
"""
#: What Chromium itself writes when a request fails or is answered with an error.
REQUEST = "Failed to load resource"


class Guard:
    """Collects faults of all pages of a context; ``allow`` names those that a test brings about itself."""

    def __init__(self, context, host):
        self.host, self.faults, self.allowed = host, [], []
        context.add_init_script(WATCH)
        context.on("page", self._watch)
        context.on("request", self._asked)

    def allow(self, *patterns):
        self.allowed += [re.compile(pattern) for pattern in patterns]

    def _watch(self, page):
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("crash", lambda _: self.faults.append("the page crashed"))

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text} {message.location.get('url', '')}")

    def _asked(self, request):
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.faults.append(f"request to elsewhere: {request.url}")

    def check(self):
        left = [fault for fault in self.faults if not any(one.search(fault) for one in self.allowed)]
        assert not left, left
