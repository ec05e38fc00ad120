import type { TestAnswer, TestApi } from "./api.ts";

export const home = { name: "Home", center: { lat: 41.902782, lng: 12.496366 }, radius: 150 };

export const postFence = (api: TestApi, token: string, fields: object = {}): Promise<TestAnswer> =>
  api.call("POST", "/api/v1/geofences/", { token, body: { ...home, ...fields } });

export async function makeFence(api: TestApi, token: string, fields: object = {}): Promise<string> {
  const { status, body, text } = await postFence(api, token, fields);
  if (status !== 201) throw new Error(text);
  return body.id;
}

export const link = (api: TestApi, token: string, fence: string, uids: unknown): Promise<TestAnswer> =>
  api.call("POST", `/api/v1/geofences/${fence}/devices/`, { token, body: { device_uids: uids } });

export const postThreshold = (api: TestApi, token: string, fields: object): Promise<TestAnswer> =>
  api.call("POST", "/api/v1/alert-thresholds/", { token, body: { metric_key: "hr", high: 120, ...fields } });

export async function makeThreshold(api: TestApi, token: string, fields: object): Promise<string> {
  const { status, body, text } = await postThreshold(api, token, fields);
  if (status !== 201) throw new Error(text);
  return body.id;
}
