/** TypedDicts of the description's schemas and queries. */
export const refName = (ref) => ref.slice(ref.lastIndexOf("/") + 1);
export const pascal = (name) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("");
const maxLineLength = 110;
const keywords = new Set(["from", "class", "import", "global", "is", "in", "not", "pass", "def", "return", "lambda"]);
const isIdentifier = (name) => /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name);

/** A comment of several lines, indented. */
export function comment({ description }, indent = "    ") {
  if (!description) return "";
  const lines = [];
  let line = `${indent}#`;
  for (const word of description.split(/\s+/)) {
    if (line.length + word.length + 1 > maxLineLength) {
      lines.push(line);
      line = `${indent}#`;
    }
    line += ` ${word}`;
  }
  return `${[...lines, line].join("\n")}\n`;
}

/** Turns schemas into annotations; objects without a name of their own get one from where they stand. */
export function makeTypes() {
  const declarations = [];

  function typeOf(schema, name) {
    const type = bareTypeOf(schema, name);
    return schema.nullable ? `${type} | None` : type;
  }

  function bareTypeOf(schema, name) {
    if (schema.$ref) return refName(schema.$ref);
    if (schema.allOf?.length === 1) return typeOf(schema.allOf[0], name);
    const union = schema.oneOf ?? schema.anyOf;
    if (union?.every((one) => one.$ref)) return `"${union.map((one) => refName(one.$ref)).join(" | ")}"`;
    if (union) return union.map((one, index) => typeOf(one, `${name}${index + 1}`)).join(" | ");
    if (schema.enum) return literalOf(schema.enum);
    if (schema.type === "array") return `list[${schema.items ? typeOf(schema.items, `${name}Item`) : "Any"}]`;
    if (schema.type === "object" || schema.properties) return objectOf(schema, name);
    if (schema.type === "integer") return "int";
    if (schema.type === "number") return "float";
    if (schema.type === "string") return schema.format === "binary" ? "bytes" : "str";
    return schema.type === "boolean" ? "bool" : "Any";
  }

  const literalOf = (values) => {
    const text = values.filter((value) => value !== null).map((value) => JSON.stringify(value));
    const line = `Literal[${text.join(", ")}]`;
    return line.length < 80 ? line : `Literal[\n${text.map((one) => `    ${one},\n`).join("")}]`;
  };

  function objectOf(schema, name) {
    if (!schema.properties) {
      const { additionalProperties } = schema;
      const value =
        additionalProperties && additionalProperties !== true ? typeOf(additionalProperties, `${name}Value`) : "Any";
      return `dict[str, ${value}]`;
    }
    declare(name, schema);
    return name;
  }

  function declare(name, schema) {
    const { properties = {}, required = [] } = schema;
    const fields = Object.entries(properties).map(([key, one]) => {
      const type = typeOf(one, `${name}${pascal(key)}`).replaceAll("\n", "\n    ");
      const isRequired = required.includes(key);
      return { key, text: isRequired ? type : `NotRequired[${type}]`, note: comment(one) };
    });
    if (fields.every(({ key }) => isIdentifier(key))) {
      const lines = fields.map(({ key, text, note }) => `${note}    ${key}: ${text}\n`);
      const note = schema.description ? comment(schema, "") : "";
      declarations.push(`${note}class ${name}(TypedDict):\n${lines.join("") || "    pass\n"}`);
      return;
    }
    const lines = fields.map(({ key, text, note }) => `${note}        ${JSON.stringify(key)}: ${text},\n`);
    declarations.push(`${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("")}    },\n)\n`);
  }

  return {
    typeOf,
    declare,
    alias: (name, schema) =>
      declarations.push(`${comment(schema, "")}${name}: TypeAlias = ${quoted(typeOf(schema, name))}\n`),
    declarations,
  };
}

/** A union of names that are declared further down stands in quotes. */
const quoted = (type) => (/^(Literal|")|^[a-z]+$/.test(type) ? type : JSON.stringify(type));

const header = (names) => `from __future__ import annotations

from typing import ${names.join(", ")}

`;

export function schemasFile({ components }) {
  const types = makeTypes();
  const { schemas } = components;
  const isObject = (schema) => schema.type === "object" && schema.properties && !schema.nullable;
  // Aliases first: they are evaluated when the module is read, annotations never.
  const entries = Object.entries(schemas);
  for (const [name, schema] of entries.filter(([, one]) => !isObject(one))) types.alias(name, schema);
  for (const [name, schema] of entries.filter(([, one]) => isObject(one))) types.declare(name, schema);
  const codes = schemas.Error.properties.code["x-extensible-enum"];
  const eventTypes = Object.keys(schemas.OutboundEvent.discriminator.mapping);
  const literal = (name, note, values) =>
    `# ${note}\n${name}: TypeAlias = Literal[\n${values.map((value) => `    "${value}",\n`).join("")}]\n`;
  const extra = [
    literal("ErrorCode", "The codes of this version; a newer service may know more.", codes),
    literal("OutboundEventType", "The types of events of this version.", eventTypes),
  ];
  const text = [...types.declarations, ...extra].join("\n\n");
  return `${header(["Any", "Literal", "NotRequired", "TypeAlias", "TypedDict"])}${text}`;
}

export const operationsOf = ({ paths }) =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, operation })));

export const queryOf = (operation) => (operation.parameters ?? []).filter((one) => one.in === "query");
export const queryName = ({ operationId }) => `${pascal(operationId)}Query`;

/** How each operation is called, and the parameters of those that take any. */
export function operationsFile(description) {
  const operations = operationsOf(description);
  const rows = operations.map(({ path, method, operation }) => {
    const takesKey = (operation.parameters ?? []).some(({ name }) => name === "Idempotency-Key");
    const fields = [`"${method.toUpperCase()}"`, `"${path}"`, takesKey ? "True" : "False"];
    return `    "${operation.operationId}": Operation(${fields.join(", ")}),\n`;
  });
  const types = makeTypes();
  for (const { operation } of operations) {
    const parameters = queryOf(operation);
    if (parameters.length === 0) continue;
    const properties = Object.fromEntries(
      // A list travels as one text with commas, and a list of one needs no brackets.
      parameters.map(({ name, schema, description }) => [
        name,
        schema.type === "array" ? { anyOf: [schema.items, schema], description } : { ...schema, description },
      ]),
    );
    types.declare(queryName(operation), { properties });
  }
  const used = [...new Set(types.declarations.join("\n").match(/\b[A-Z]\w+Enum\b/g))].toSorted();
  const imports =
    used.length === 0 ? "" : `from .schemas import (\n${used.map((name) => `    ${name},\n`).join("")})\n\n`;
  return `from __future__ import annotations

from typing import Literal, NamedTuple, NotRequired, TypedDict

${imports}
class Operation(NamedTuple):
    method: str
    path: str
    takes_idempotency_key: bool


OPERATIONS: dict[str, Operation] = {
${rows.join("")}}


${types.declarations.join("\n\n")}`;
}
