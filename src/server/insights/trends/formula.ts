import { invalid } from '../insight-error.ts';

/** An expression over series, which are named A, B, … by their order. */
export type Formula =
  | { readonly kind: 'number'; readonly value: number }
  /** From 0. */
  | { readonly kind: 'series'; readonly index: number }
  | { readonly kind: 'negative'; readonly of: Formula }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Formula; readonly right: Formula };

type Operator = '+' | '-' | '*' | '/' | '**';

const MAX_CHARACTERS = 400;
/** Parentheses and signs within one another. */
const MAX_DEPTH = 30;

const TOKEN = /\s*(\*\*|[-+*/()^]|\d+(?:\.\d+)?|[a-z]+)/iy;

/** Reads `(A - B) / A * 100`: numbers, names of series, `+ - * / **` and parentheses. Throws InsightError. */
export function parseFormula(text: string, seriesCount: number): Formula {
  if (text.length > MAX_CHARACTERS) throw refuse(`it has more than ${MAX_CHARACTERS} characters`);
  const tokens = readTokens(text);
  let place = 0;
  const formula = readSum(0);
  if (place < tokens.length) throw refuse(`"${tokens[place]}" was not expected`);
  return formula;

  function readSum(depth: number): Formula {
    return readBinary(['+', '-'], () => readProduct(depth));
  }

  function readProduct(depth: number): Formula {
    return readBinary(['*', '/'], () => readSigned(depth));
  }

  function readBinary(operators: readonly Operator[], readNext: () => Formula): Formula {
    let left = readNext();
    for (;;) {
      const operator = operators.find((one) => one === tokens[place]);
      if (operator === undefined) return left;
      place++;
      left = { kind: 'binary', operator, left, right: readNext() };
    }
  }

  function readSigned(depth: number): Formula {
    if (depth > MAX_DEPTH) throw refuse('it is nested too deeply');
    if (tokens[place] !== '-') return readPower(depth);
    place++;
    return { kind: 'negative', of: readSigned(depth + 1) };
  }

  /** `-A ** 2` is `-(A ** 2)`, and `A ** B ** C` is `A ** (B ** C)`. */
  function readPower(depth: number): Formula {
    const left = readOperand(depth);
    if (tokens[place] !== '**' && tokens[place] !== '^') return left;
    place++;
    return { kind: 'binary', operator: '**', left, right: readSigned(depth + 1) };
  }

  function readOperand(depth: number): Formula {
    const token = tokens[place++];
    if (token === undefined) throw refuse('it ends too early');
    if (token === '(') {
      const inner = readSum(depth + 1);
      if (tokens[place++] !== ')') throw refuse('a parenthesis is not closed');
      return inner;
    }
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    const index = token.length === 1 ? token.toUpperCase().charCodeAt(0) - 65 : -1;
    if (index < 0 || index >= seriesCount) {
      const names = Array.from({ length: seriesCount }, (_, one) => String.fromCharCode(65 + one)).join(', ');
      throw refuse(`"${token.slice(0, 40)}" is no series; there are ${names}`);
    }
    return { kind: 'series', index };
  }
}

function readTokens(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (TOKEN.lastIndex < trimmed.length) {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(trimmed)?.[1];
    if (token === undefined) throw refuse(`"${trimmed.slice(from).trim().slice(0, 20)}" cannot be read`);
    tokens.push(token);
  }
  return tokens;
}

const refuse = (why: string) => invalid(`formula: ${why}.`, 'formula');

/** The value for one value of each series. What has no number, such as a division by zero, is 0, as in the service. */
export function evaluateFormula(formula: Formula, values: readonly number[]): number {
  const value = evaluate(formula, values);
  return Number.isFinite(value) ? value : 0;
}

function evaluate(formula: Formula, values: readonly number[]): number {
  switch (formula.kind) {
    case 'number':
      return formula.value;
    case 'series':
      return values[formula.index] ?? 0;
    case 'negative':
      return -evaluate(formula.of, values);
    case 'binary':
      return compute(formula.operator, evaluate(formula.left, values), evaluate(formula.right, values));
  }
}

function compute(operator: Operator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '**':
      return left ** right;
  }
}
