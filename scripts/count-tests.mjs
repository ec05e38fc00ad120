/**
 * Prints how many tests passed, failed and were skipped in several runs: `node scripts/count-tests.mjs STATUS REPORT...`.
 * A file that could not be run, a report that is missing and a STATUS other than 0 without a failed test count as one failure.
 */
import { readFileSync } from "node:fs";

const [status, ...reports] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };

for (const path of reports) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    const isBroken = ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((test) => test.status !== "failed");
    total.passed += report.numPassedTests;
    total.failed += report.numFailedTests + report.testResults.filter(isBroken).length;
    total.skipped += report.numPendingTests + (report.numTodoTests ?? 0);
  } catch (error) {
    console.error(`no report of the tests in ${path}: ${error.message}`);
    total.failed += 1;
  }
}

if (status !== "0" && total.failed === 0) total.failed = 1;
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
process.exit(total.failed > 0 ? 1 : 0);
