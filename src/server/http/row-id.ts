const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/** The id of a row, a Postgres integer, from its digits in a path. Undefined: any other text is the id of nothing. */
export function parseRowId(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);
  return id < 2 ** 31 ? id : undefined;
}
