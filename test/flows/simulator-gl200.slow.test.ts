import { describeVirtualDevice } from "../support/virtual-device-behaviour.ts";

describeVirtualDevice("gl200", ["gl200-generic", "gl200-sack"]);
