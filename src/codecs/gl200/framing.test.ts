import { gl200Case } from "../../../test/support/gl200-corpus.ts";
import { describeStream } from "../../../test/support/stream-behaviour.ts";

describeStream(gl200Case);
