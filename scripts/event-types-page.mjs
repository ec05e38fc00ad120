const head = `# Every type of event

Made by \`npx tsx scripts/event-types-reference.mjs\` from the schemas that check events; the [description](/api/schema/redoc/) has the same under \`x-webhooks\`. An event comes by [webhook](webhooks.md) and
in [replay](replay.md) with the same envelope and the same \`id\`. \`vigil demo\` raises all of them within two minutes.

`;

/** The page of all types, from the webhooks of the description. */
export function eventTypesPage(webhooks) {
  const sections = Object.entries(webhooks).map(([type, { post }]) => {
    const { example } = post.requestBody.content["application/json"];
    const notes = post.description.replace(" Delivered at least once and perhaps out of order.", "");
    return `## ${type}\n\n${notes}\n\n\`\`\`json\n${JSON.stringify(example, null, 1)}\n\`\`\`\n`;
  });
  return head + sections.join("\n");
}
