import fastify from "fastify";

/** The raw limit of an API read: a route that returns ready bytes. Arguments: the bytes. Prints its port. */
const body = Buffer.from(process.argv[2] as string);
const app = fastify();
app.get("/", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(body);
});
await app.listen({ port: 0, host: "127.0.0.1" });
console.log((app.server.address() as { port: number }).port);
