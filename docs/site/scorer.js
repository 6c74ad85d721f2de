/**
 * Which results of the site's search come first: pages for users before the names of the Python interface, and those
 * before the pages for developers. The numbers that are not explained are those of Sphinx.
 */
const DEVELOPERS = /^(docs\/decisions\/|docs\/architecture$|docs\/experiments$|CONTRIBUTING$|CHANGELOG$)/;

var Scorer = {
  score: ([page, , , , score]) => (DEVELOPERS.test(page) ? score - 20 : score),
  // Names of the Python interface: less than a title.
  objNameMatch: 4,
  objPartialMatch: 2,
  objPrio: { 0: 3, 1: 1, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
