// Checks request fields and words the 422 answers as FastAPI does: `{type, loc, msg, input, ctx?}`, one per problem.
// Extra fields are ignored, as on the server.

export type Field = {
  is: "string" | "integer" | "number" | "boolean" | "strings" | "object";
  required?: boolean;
  oneOf?: readonly string[];
  min?: number;
  max?: number;
};
export type Shape = Record<string, Field>;
export type Problem = {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
};
type Finding = Pick<Problem, "type" | "msg" | "ctx">;

const TYPES = {
  string: ["string_type", "string"],
  integer: ["int_type", "integer"],
  number: ["float_type", "number"],
  boolean: ["bool_parsing", "boolean, unable to interpret input"],
  strings: ["list_type", "list"],
  object: ["dict_type", "dictionary"],
} as const;

/** Returns what is wrong with a body. `text` is the body as it came, `body` undefined when that is no JSON. */
export function bodyProblems(shape: Shape, { text, body }: { text: string; body: unknown }): Problem[] {
  if (text !== "" && body === undefined) {
    return [
      {
        type: "json_invalid",
        loc: ["body", text.length],
        msg: "JSON decode error",
        input: {},
        ctx: { error: "Expecting value" },
      },
    ];
  }
  if (body === undefined || body === null)
    return [{ type: "missing", loc: ["body"], msg: "Field required", input: null }];
  if (typeof body !== "object" || Array.isArray(body)) {
    const msg = "Input should be a valid dictionary or object to extract fields from";
    return [{ type: "model_attributes_type", loc: ["body"], msg, input: body }];
  }
  return fieldProblems(shape, body as Record<string, unknown>, { where: "body", whole: body });
}

export function queryProblems(shape: Shape, query: Record<string, unknown>): Problem[] {
  return fieldProblems(shape, query, { where: "query", whole: null });
}

/** Reads query booleans in the spellings the server takes. Any other text stays text, and fails the check. */
export function typedQuery(shape: Shape, query: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([key, value]) => [key, shape[key]?.is === "boolean" ? asBoolean(value) : value]),
  );
}

function asBoolean(text: string): boolean | string {
  if (/^(true|1|yes|on|t|y)$/i.test(text)) return true;
  return /^(false|0|no|off|f|n)$/i.test(text) ? false : text;
}

function fieldProblems(
  shape: Shape,
  values: Record<string, unknown>,
  { where, whole }: { where: string; whole: unknown },
): Problem[] {
  return Object.entries(shape).flatMap(([name, field]): Problem[] => {
    const value = values[name];
    const loc = [where, name];
    if (value === undefined)
      return field.required ? [{ type: "missing", loc, msg: "Field required", input: whole }] : [];
    if (value === null && !field.required) return [];
    const finding = valueFinding(field, value);
    return finding ? [{ ...finding, loc, input: value }] : [];
  });
}

function valueFinding({ is, oneOf, min, max }: Field, value: unknown): Finding | undefined {
  const [type, noun] = TYPES[is];
  if (!hasType(is, value)) return { type, msg: `Input should be a valid ${noun}` };
  if (oneOf && ![value].flat().every((item) => oneOf.includes(String(item)))) {
    const expected = oneOf
      .map((item) => `'${item}'`)
      .join(", ")
      .replace(/, ([^,]*)$/, " or $1");
    return { type: "literal_error", msg: `Input should be ${expected}`, ctx: { expected } };
  }
  if (min !== undefined && Number(value) < min) {
    return { type: "greater_than_equal", msg: `Input should be greater than or equal to ${min}`, ctx: { ge: min } };
  }
  if (max !== undefined && Number(value) > max) {
    return { type: "less_than_equal", msg: `Input should be less than or equal to ${max}`, ctx: { le: max } };
  }
  return undefined;
}

function hasType(is: Field["is"], value: unknown): boolean {
  if (is === "integer") return Number.isInteger(value);
  if (is === "strings") return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (is === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === is;
}
