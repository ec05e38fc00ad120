import { osmandCase } from "../../../test/support/osmand-corpus.ts";
import { describeStream } from "../../../test/support/stream-behaviour.ts";

describeStream(osmandCase);
