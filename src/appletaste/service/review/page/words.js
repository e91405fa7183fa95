// What the team of the stream calls its items, its outcomes and its actions, and the currency of its amounts.
//
//   words.item, words.items            an order, many orders           words.positive, words.positives, words.negative
//   words.act, words.acted, words.acting        hold, held, holding    words.pass, words.passed, words.passing
//   words.currency                     EUR, or empty
//   told("An item was acted on")       a sentence of ours, or of the service, in the words of the team
//   capital(words.act)                 with a capital letter, for buttons and headings
//   outcomeOf(1), actionOf(false)      fraud; let through
//
// The words are texts: they become text nodes like any other, never markup. appletaste/words.py has the same rules.

const USUAL = {
  item: "item", items: "items", positive: "match", positives: "matches", negative: "no match",
  act: "act on", acted: "acted on", acting: "acting on", pass: "let through", passed: "let through", passing: "letting through",
  currency: "",
};
const FORMS = {
  "act on": "act", "acted on": "acted", "acting on": "acting", act: "act", acted: "acted", acting: "acting",
  pass: "pass", passed: "passed", passing: "passing",
};
// as nouns: items that were acted on, and those that were not
const NOUNS = { acts: "acted", passes: "passed" };
const CHOSEN = /'[^']*'(?!\w)|\b(?:(an?) )?(?:(items?|positives?|negatives?)|((?:(?:acted|passed) items?|act(?:ed|ing|s)? on|acting|acted|act|passed|passing|pass|(?<!that )(?<!which )(?<!policy )(?<!it )(?:acts|passes))(?! rate)))\b/gi;

export const words = { ...USUAL };

/** From now on these words hold; what is left out is as usual. */
export function speak(given = {}) {
  Object.assign(words, USUAL, given);
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function told(text) {
  return text.replace(CHOSEN, (found, article, noun, verb) => {
    if (!noun && (!verb || article)) return found;
    const name = (noun ?? verb).toLowerCase();
    let own = noun ? words[name === "negatives" ? "negative" : name] : words[FORMS[name]] ?? "";
    if (name in NOUNS) own = `${words.items} ${words[NOUNS[name]]}`;
    if (name.includes(" item")) own = `${words[name.split(" ")[1]]} ${words[name.split(" ")[0]]}`;
    if (name === "acts on") own = words.act.replace(/^\S+/, third);
    // "acting pays": without the preposition of "looking at"
    if (["act", "acted", "acting"].includes(name)) own = own.replace(/ (on|at|into|for|to|with|after)$/, "");
    if (article) own = `${/^[aeiou]/i.test(own) ? "an" : "a"} ${own}`;
    return /^[A-Z]/.test(found) ? capital(own) : own;
  });
}

/** A verb with its -s. */
function third(verb) {
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ies`;
  return `${verb}${/(s|x|z|ch|sh)$/.test(verb) ? "es" : "s"}`;
}

export function outcomeOf(label) {
  return label ? words.positive : words.negative;
}

export function actionOf(act) {
  return act ? words.acted : words.passed;
}
