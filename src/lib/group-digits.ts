/** `1,234,567`. The same of the ECMAScript Internationalization API takes 5 to 10 ms of a start. */
export const groupDigits = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
