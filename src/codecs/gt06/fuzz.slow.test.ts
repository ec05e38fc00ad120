import { gt06Corpus, gt06Login, gt06World } from "../../../test/support/gt06-corpus.ts";
import { checkForAMinute } from "../../../test/support/stream-checks.ts";

checkForAMinute(gt06World, [gt06Login, ...gt06Corpus.map(([, frame]) => frame)]);
