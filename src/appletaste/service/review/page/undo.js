// The bar after a label: what was said, five seconds to take it back, and a word when the label has arrived.
//
//   undoBar.offer({ id, value, until }, undo)     shows the bar until then; `undo` is called by the button
//   undoBar.hide()

import { part, replace, template } from "./dom.js";
import { outcomeOf } from "./words.js";

const place = document.getElementById("undo");
let timer = null;

export const undoBar = {
  offer({ id, value, until }, undo) {
    clearTimeout(timer);
    const bar = template("undo");
    part(bar, "about").append(id);
    part(bar, "said").append(outcomeOf(value));
    part(bar, "undo").onclick = undo;
    part(bar, "undo-line").style.animationDuration = `${until - Date.now()}ms`;
    replace(place, bar);
    timer = setTimeout(undoBar.hide, until - Date.now());
  },
  hide() {
    clearTimeout(timer);
    replace(place);
  },
};
