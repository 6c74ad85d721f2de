/** What labels need to know of the document, whoever makes them: names of entities, and where a token is. */
/** @import { ChainId } from "../state/types.js" */

export const lookup = {
  /**
   * Return the name of an entity, or nothing.
   * @type {(chain: ChainId) => string}
   */
  name: () => "",
  /**
   * Return the number of the line of a token, from 1, as the margin of the text has it.
   * @type {(token: number) => number}
   */
  line: () => 1,
};
