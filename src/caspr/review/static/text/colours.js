/** Give every chain a colour and a line style; the number beside a mention says the same without colour. */
/** @import { ChainId } from "../state/types.js" */

const STYLES = 12;

/**
 * Return the CSS class of a chain: numbers that are close get hues far apart.
 * @param {ChainId} chain
 */
export function colour(chain) {
  const number = Number(chain);
  if (Number.isInteger(number)) return `k${((number % STYLES) + STYLES) % STYLES}`;
  let hash = 0;
  for (const character of chain) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return `k${hash % STYLES}`;
}
