/** Text that JSON writes as it is: printable ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-[\]-~]*$/;
/** The same as the value of a JSON string, with its quotes. */
const PLAIN_STRING = /^"[ !#-[\]-~]*"$/;

/** JSON.stringify of a text, also of one that is a JSON string; most are short and need no escapes. */
export function quote(text: string): string {
  if (text.length > MOST_CHARACTERS) return JSON.stringify(text);
  if (PLAIN.test(text)) return `"${text}"`;
  if (PLAIN_STRING.test(text)) return `"\\${text.slice(0, -1)}\\""`;
  return JSON.stringify(text);
}

/** Of longer ones JSON.stringify is faster. */
const MOST_CHARACTERS = 100;
