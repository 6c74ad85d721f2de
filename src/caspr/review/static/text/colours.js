/** Give every chain a colour and a line style; the number beside a mention says the same without colour. */

const KINDS = 12;

/** Return the class of a chain: neighbours in number get hues far apart. */
export function colour(chain) {
  const number = Number(chain);
  if (Number.isInteger(number)) return `k${((number % KINDS) + KINDS) % KINDS}`;
  let sum = 0;
  for (const character of chain) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return `k${sum % KINDS}`;
}
