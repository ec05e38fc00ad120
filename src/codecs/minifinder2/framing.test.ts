import { minifinder2Case } from "../../../test/support/minifinder2-corpus.ts";
import { describeStream } from "../../../test/support/stream-behaviour.ts";

describeStream(minifinder2Case);
