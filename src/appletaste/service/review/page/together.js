// The bar under the list when cases are chosen: one label for many at once, after a look at what they are.
//
//   const bar = togetherBar(list, work, done)      bar.element, bar.draw(), bar.clear()

import { codeWords } from "./codes.js";
import { count, figure, h, money, notify, part, replace, template } from "./dom.js";
import { ask } from "./parts.js";
import { capital, outcomeOf, words } from "./words.js";

// as many as the service takes at once
const MOST = 1000;

export function togetherBar(list, work, done) {
  const element = template("together");
  element.hidden = true;
  const { picked } = list;

  function clear() {
    picked?.clear();
    draw();
  }

  function draw() {
    element.hidden = !picked?.size;
    document.body.classList.toggle("choosing", !element.hidden);
    if (element.hidden) return;
    replace(part(element, "together-count"), figure("chosen", picked.size, count(picked.size)));
    replace(part(element, "together-positive"), capital(words.positive), " …");
    replace(part(element, "together-negative"), capital(words.negative), " …");
    part(element, "together-all").hidden = list.rows.total > MOST || picked.size >= list.rows.total;
  }

  async function all() {
    await list.rows.need(0, list.rows.total - 1);
    for (let place = 0; place < list.rows.total; place += 1) {
      const item = list.rows.at(place);
      if (item) picked.set(item.id, item);
    }
    list.draw();
    draw();
  }

  function say(value) {
    const items = [...picked.values()];
    const left = (item) => (work.said.has(item.id) || (item.label ?? null) !== null ? "have a label already"
      : item.state && item.state !== "pending" ? "wait for no label" : item.by && item.by !== list.name ? `held by ${item.by}` : "");
    const good = items.filter((item) => !left(item)).slice(0, MOST);
    const sums = (of) => [...Map.groupBy(of, ([words_]) => words_)].map(([words_, all_]) => h("li", h("strong", count(all_.length)), ` ${words_}`));
    const outcome = outcomeOf(value);
    const amount = good.reduce((sum, item) => sum + item.amount, 0);
    const many = `${count(good.length)} ${good.length === 1 ? words.item : words.items}`;
    if (!good.length) return notify("None of the chosen cases can be labelled here.");
    ask(`Label ${many} as ${outcome}?`, h("div", { testid: "together-check" },
      h("p", "Together ", h("strong", money(amount)), " at stake. Among them:"),
      h("ul.plain-list", sums(good.map((item) => [codeWords(item.code, item.why)])), sums(good.filter((item) => item.escalated).map(() => ["escalated"]))),
      good.length < items.length && [h("p", "Left out:"), h("ul.plain-list", sums(items.filter(left).map((item) => [left(item)])))],
      h("p.quiet", "The labels are sent at once. A wrong one can be corrected under “My labels”.")),
    `Label ${many} as ${outcome}`, "together", async () => {
      const told = await work.labelAll(good.map((item) => item.id), value);
      const wrong = told.filter((one) => one.problem);
      for (const one of told) if (!one.problem && !list.rows.finds) work.gone(one.id);
      notify(wrong.length ? `${count(told.length - wrong.length)} labelled as ${outcome}, ${count(wrong.length)} refused: ${wrong[0].problem.title}.` : `${many} labelled as ${outcome}.`, { bad: wrong.length > 0 });
      clear();
      list.draw();
      done();
    });
    return undefined;
  }

  part(element, "together-clear").onclick = () => {
    clear();
    list.draw();
  };
  part(element, "together-all").onclick = all;
  part(element, "together-positive").onclick = () => say(1);
  part(element, "together-negative").onclick = () => say(0);
  list.onpick = draw;
  return { element, draw, clear };
}
