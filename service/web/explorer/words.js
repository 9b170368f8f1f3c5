// The words of a search, found again in texts as the service finds them (docs/interface.md, "Words").

const WORD = /[\p{L}\p{N}\p{M}'`´‘’‛′ʼ＇]+/gu;
const APOSTROPHES = /['`´‘’‛′ʼ＇]/gu;
// Scripts without spaces: a word of these matches anywhere.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** @param {string} text @returns {string} a text as it is compared */
export function folded(text) {
  return text.normalize("NFKC").replace(APOSTROPHES, "").toLowerCase().normalize("NFD").replace(/(?![\u3099\u309a])\p{M}/gu, "").normalize("NFC");
}

/** @param {string} text @returns {string} a value as filters compare it: accents matter (docs/interface.md, "Filters") */
export function filtered(text) {
  const spaced = text.normalize("NFKC").trim().replace(/\s+/gu, " ");
  return spaced.toUpperCase().toLowerCase().normalize("NFKC"); // ß is SS
}

/** @typedef {{whole: Set<string>, start: string, parts: string[]}} Words */

/** @param {string} query @returns {Words | null} the words of a search; null if there are none */
export function wordsOf(query) {
  if (!query) return null; // the expressions take milliseconds to compile
  const all = (query.match(WORD) ?? []).map(folded).filter(Boolean);
  if (!all.length) return null;
  const start = /\s$/u.test(query) ? "" : all[all.length - 1];
  return { whole: new Set(all), start, parts: all.filter((word) => UNSPACED.test(word)) };
}

/**
 * Return a text as nodes, with the words of a search marked.
 * @param {string} text
 * @param {Words | null} words
 * @returns {(string | HTMLElement)[]}
 */
export function marked(text, words) {
  if (words === null) return [text];
  const found = [];
  let from = 0;
  for (const match of text.matchAll(WORD)) {
    const range = matchedRange(match[0], words);
    if (range === null) continue;
    const [start, end] = range.map((at) => match.index + at);
    const mark = document.createElement("mark");
    mark.textContent = text.slice(start, end);
    found.push(text.slice(from, start), mark);
    from = end;
  }
  found.push(text.slice(from));
  return found.filter((part) => part !== "");
}

/**
 * Return where a written word matches: the whole, its beginning, or a part where there are no spaces; null if nowhere.
 * @param {string} written
 * @param {Words} words
 * @returns {[number, number] | null}
 */
function matchedRange(written, words) {
  const word = folded(written);
  if (words.whole.has(word)) return [0, written.length];
  const part = words.parts.find((each) => word.includes(each));
  if (part) return [word.indexOf(part), word.indexOf(part) + part.length];
  return words.start && word.startsWith(words.start) ? [0, Math.min(written.length, words.start.length)] : null;
}
