/**
 * The text as it can be hashed. UTF-8 has no place for half a surrogate pair and writes the same for each of them, so
 * different ids would have one hash. What begins a text that has one begins none that is hashed as it is.
 */
export const toHashable = (text: string): string =>
  text.isWellFormed() ? text : `ill-formed ${JSON.stringify(text)}`;
