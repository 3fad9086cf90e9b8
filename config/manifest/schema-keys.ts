/** The little of JSON Schema that `z.toJSONSchema` makes of a manifest. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly const?: unknown;
}

export type KeyPath = readonly (string | number)[];

/** The keys that are allowed at a path of a document. Of a union, the branches that its constants allow. */
export function keysAt(schema: unknown, document: unknown, path: KeyPath): string[] {
  let nodes = branches(schema as SchemaNode, document);
  let value = document;
  for (const step of path) {
    value = (value as Record<string | number, unknown> | undefined)?.[step];
    nodes = nodes.flatMap((node) => {
      const next = typeof step === 'number' ? node.items : node.properties?.[step];
      return next ? branches(next, value) : [];
    });
  }
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

/** Dotted paths at which a key of this name is allowed, for a key in the wrong block. */
export function findKeyPlaces(schema: unknown, document: unknown, key: string, above = ''): string[] {
  return branches(schema as SchemaNode, document).flatMap((node) =>
    Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
      ...(name === key ? [above + name] : []),
      ...findKeyPlaces(
        child,
        (document as Record<string, unknown> | undefined)?.[name],
        key,
        `${above}${name}.`,
      ),
    ]),
  );
}

function branches(node: SchemaNode, value: unknown): SchemaNode[] {
  const choices = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  if (choices.length === 0) return [node];
  const fitting = choices.filter((choice) => constantsFit(choice, value));
  return [node, ...(fitting.length > 0 ? fitting : choices).flatMap((choice) => branches(choice, value))];
}

function constantsFit(node: SchemaNode, value: unknown): boolean {
  return Object.entries(node.properties ?? {}).every(
    ([key, child]) =>
      child.const === undefined || child.const === (value as Record<string, unknown> | undefined)?.[key],
  );
}
