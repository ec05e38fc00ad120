import { h02Corpus, h02World, longBinary } from "../../../test/support/h02-corpus.ts";
import { checkForAMinute } from "../../../test/support/stream-checks.ts";

checkForAMinute(h02World, [longBinary, ...h02Corpus.map(([, frame]) => frame)]);
