import type { FastifyInstance, FastifyReply } from "fastify";

/** To be called before an answer is written past the framework. */
export type LeaveWhenDraining = (reply: FastifyReply) => void;

/**
 * While the service drains, the answer of a call that is under way has `Connection: close`. The framework says so only of calls
 * that come after, and a client that hears nothing keeps its connection, which the end of the service waits for.
 */
export function closeWhileDraining(app: FastifyInstance): LeaveWhenDraining {
  let isDraining = false;
  const leave: LeaveWhenDraining = (reply) => {
    if (isDraining) reply.raw.shouldKeepAlive = false;
  };
  app.addHook("preClose", (done) => {
    isDraining = true;
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    leave(reply);
    done(null, payload);
  });
  return leave;
}
