import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import { fixture, likeness, loudness, speechLike, wavFile } from "../support/voice-samples.ts";
import { multipart, readAudio, uploadVoice, wavSamples } from "../support/voice-upload.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

const megabyte = 1_048_576;

describe("voice messages", () => {
  let api: TestApi;
  let token: string;
  let device: TestDevice;
  const upload = (file: Buffer | undefined, more: object = {}) =>
    uploadVoice(api, { token, uid: device.uid, ...(file ? { file } : {}), ...more });

  beforeAll(async () => {
    api = await openTestApi();
    const organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    device = await makeDevice(api, organization);
  });
  afterAll(() => api.close());

  const formats = [
    "voice.mp3",
    "voice.m4a",
    "voice-vorbis.ogg",
    "voice-opus.ogg",
    "voice.webm",
    "voice.amr",
    "voice-wb.amr",
  ];
  it.each([...formats, "wav"])("takes %s by its content, and makes the same sound of it", async (name) => {
    const file = name === "wav" ? wavFile(3, 44_100) : fixture(name);
    const { status, body } = await upload(file, { fileName: "anything.txt", fields: { sender_name: "Ada" } });
    expect([status, body.message_type, body.text, body.sender_name]).toEqual([201, "voice", null, "Ada"]);
    expect(body.device_delivery_status).toBe("ready");
    const { audio } = body;
    expect(audio).toMatchObject({ available: true, mime_type: "audio/amr" });
    expect(Math.abs(audio.duration_ms - 3000)).toBeLessThan(100);
    const amr = await readAudio(api, token, audio.url);
    expect([amr.status, amr.headers["content-type"], amr.headers["content-length"]]).toEqual([
      200,
      "audio/amr",
      String(audio.size_bytes),
    ]);
    expect(amr.bytes.subarray(0, 6).toString()).toBe("#!AMR\n");
    const wav = await readAudio(api, token, `${audio.url}?format=wav`);
    expect(wav.headers["content-type"]).toBe("audio/wav");
    const decoded = wavSamples(wav.bytes);
    const spoken = speechLike(3, 8000);
    expect(likeness(spoken, decoded, 8000)).toBeGreaterThan(0.7);
    expect(loudness(decoded) / loudness(spoken)).toBeGreaterThan(0.5);
    expect(loudness(decoded) / loudness(spoken)).toBeLessThan(2);
  });

  it("takes thirty seconds and refuses thirty-one", async () => {
    const maxLength = await upload(wavFile(30, 8000));
    expect([maxLength.status, maxLength.body.audio.duration_ms]).toEqual([201, 30_000]);
    const over = await upload(wavFile(31, 8000));
    expect([over.status, over.body.errors]).toEqual([400, { file: ["Audio is longer than 30 seconds."] }]);
  });

  it("cuts a tenth of a second of padding and refuses more, whether the file is converted or kept as it is", async () => {
    const frame = Buffer.from([0x3c, ...new Array(31).fill(0)]);
    const amrFile = (ms: number) => Buffer.concat([Buffer.from("#!AMR\n"), ...new Array(ms / 20).fill(frame)]);
    for (const make of [(ms: number) => wavFile(ms / 1000, 8000), amrFile]) {
      const padded = await upload(make(30_100));
      expect([padded.status, padded.body.audio?.duration_ms]).toEqual([201, 30_000]);
      for (const ms of [30_120, 30_500]) {
        const over = await upload(make(ms));
        expect([ms, over.status, over.body.errors]).toEqual([ms, 400, { file: ["Audio is longer than 30 seconds."] }]);
      }
    }
  });

  it("takes ten megabytes and not a byte more", async () => {
    const garbage = await upload(Buffer.alloc(10 * megabyte, 1));
    expect([garbage.status, garbage.body.code]).toEqual([415, "unsupported_media_type"]);
    const over = await upload(Buffer.alloc(10 * megabyte + 1, 1));
    expect([over.status, over.body.code]).toEqual([413, "file_too_large"]);
    const far = await upload(Buffer.alloc(12 * megabyte, 1));
    expect([far.status, far.body.code]).toEqual([413, "file_too_large"]);
  });

  it("answers what is no audio, or damaged, with 415 and goes on working", async () => {
    const amr = fixture("voice.amr");
    const broken = Buffer.from(amr);
    broken[6 + 32 * 5] = 0xff;
    const files = [
      Buffer.from("Dear watch, this is a text in a file called voice.amr"),
      Buffer.from("#!AMR\n"),
      broken,
      amr.subarray(0, 100),
      fixture("voice.m4a").subarray(0, 4000),
      fixture("voice.mp3").subarray(0, 300),
      Buffer.concat([fixture("voice-opus.ogg").subarray(0, 100), Buffer.alloc(5000, 7)]),
      Buffer.concat([wavFile(0.01).subarray(0, 30), Buffer.alloc(50, 7)]),
      Buffer.alloc(0),
    ];
    for (const file of files) {
      const { status, body } = await upload(file, { fileName: "voice.amr" });
      expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
    }
    expect((await upload(amr)).status).toBe(201);
  });

  it("says what is wrong with a body that is no form, or has no file", async () => {
    expect((await upload(undefined)).body.errors).toEqual({ file: ["This field is required."] });
    const path = `/api/v1/devices/${device.uid}/messages/upload-voice/`;
    const json = await api.call("POST", path, { token, body: { file: "x" } });
    expect([json.status, json.body.code]).toEqual([415, "unsupported_media_type"]);
    const torn = multipart({ file: fixture("voice.amr") });
    const headers = { "content-type": torn.contentType };
    const cut = await api.call("POST", path, { token, headers, body: torn.payload.toString("latin1", 0, 500) });
    expect([cut.status, cut.body.code]).toEqual([400, "parse_error"]);
    const long = await upload(fixture("voice.amr"), { fields: { sender_name: "x".repeat(51) } });
    expect([long.status, Object.keys(long.body.errors)]).toEqual([400, ["sender_name"]]);
    expect((await upload(fixture("voice.amr"), { fields: { text: "caption" } })).status).toBe(400);
  });

  it("compares files by their bytes under one key", async () => {
    const headers = { "idempotency-key": "voice-1" };
    const first = await upload(fixture("voice.amr"), { headers });
    const again = await upload(fixture("voice.amr"), { headers, fileName: "renamed.amr" });
    expect([again.status, again.body.id, again.headers["idempotency-replayed"]]).toEqual([201, first.body.id, "true"]);
    const other = await upload(fixture("voice.mp3"), { headers });
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reuse"]);
    const field = await upload(fixture("voice.amr"), { headers, fields: { sender_name: "Ada" } });
    expect(field.body.code).toBe("idempotency_key_reuse");
  });

  it("gives parts of a recording", async () => {
    const { body } = await upload(fixture("voice.amr"));
    const { url, size_bytes: size } = body.audio;
    const whole = (await readAudio(api, token, url)).bytes;
    const some = await readAudio(api, token, url, { range: "bytes=100-199" });
    expect([some.status, some.headers["content-range"], some.headers["accept-ranges"]]).toEqual([
      206,
      `bytes 100-199/${size}`,
      "bytes",
    ]);
    expect(some.bytes.equals(whole.subarray(100, 200))).toBe(true);
    const last = await readAudio(api, token, url, { range: "bytes=-50" });
    expect(last.bytes.equals(whole.subarray(size - 50))).toBe(true);
    const beyond = await api.call("GET", url, { token, headers: { range: `bytes=${size}-` } });
    expect([beyond.status, beyond.body.code, beyond.headers["content-range"]]).toEqual([
      416,
      "range_not_satisfiable",
      `bytes */${size}`,
    ]);
    expect((await api.call("GET", `${url}?format=flac`, { token })).body.errors).toHaveProperty("format");
    await api.call("DELETE", `/api/v1/devices/${device.uid}/messages/${body.id}/`, { token });
    expect((await api.call("GET", url, { token })).status).toBe(404);
    const left = await api.db.many`select from message_audio where message_id = ${body.id}`;
    expect(left).toHaveLength(0);
  });
});
