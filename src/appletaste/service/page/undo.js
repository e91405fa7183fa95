// The bar after a label: what was said, five seconds to take it back, and a word when the label has arrived.
//
//   undoBar.offer({ id, value, until }, undo)     shows the bar until then; `undo` is called by the button
//   undoBar.hide()

import { h, replace } from "./dom.js";

const place = document.getElementById("undo");
let timer = null;

export const WORDS = { 1: "positive", 0: "negative" };

export const undoBar = {
  offer({ id, value, until }, undo) {
    clearTimeout(timer);
    const left = until - Date.now();
    const line = h("span.undo-line");
    line.style.animationDuration = `${left}ms`;
    replace(place, h("div.undo#undo-bar",
      h("p", h("span.mono.undo-id", id), " is ", h("strong", WORDS[value])),
      h("button.button.small#undo", { onclick: undo }, "Undo ", h("kbd", "u")), line));
    timer = setTimeout(() => undoBar.hide(), left);
  },
  hide() {
    clearTimeout(timer);
    replace(place);
  },
};
