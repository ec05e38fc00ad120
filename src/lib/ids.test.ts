import { expect, test } from "vitest";
import { formatUuid, isUuid, makeUuidV7Source, makeUuidV7Texts, newUuid, PackedIds, uuidV7Floor } from "./ids.ts";

test("ids of one millisecond rise, also when others are made in between", () => {
  const newId = makeUuidV7Source(4);
  const ids = Array.from({ length: 1000 }, (_, index) => formatUuid(newId(1000 + (index % 3))));
  for (const rest of [0, 1, 2]) {
    const ofOneTime = ids.filter((_, index) => index % 3 === rest);
    expect(ofOneTime).toEqual(ofOneTime.toSorted());
    expect(ofOneTime.every((id) => id > uuidV7Floor(1000 + rest) && id < uuidV7Floor(1001 + rest))).toBe(true);
  }
  expect(ids.every((id) => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(1000);
});

test("packed ids are those of their texts, also beyond a page, and none changes another one", () => {
  const packed = new PackedIds();
  const texts = Array.from({ length: 300 }, () => newUuid());
  const bytes = texts.map((text) => packed.bytesOf(text));
  expect(bytes.map(formatUuid)).toEqual(texts);
});

test("ids as text carry their own time, also when it goes back", () => {
  const newId = makeUuidV7Texts();
  const times = [1000, 1000, 1001, 999, 1000];
  const ids = times.map((time) => newId(time));
  expect(ids.map((id) => id.slice(0, 15))).toEqual(times.map((time) => uuidV7Floor(time).slice(0, 15)));
  expect(ids.every((id) => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(5);
});
