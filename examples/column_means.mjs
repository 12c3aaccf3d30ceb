// A specialist in Node that speaks protocol 1: the mean of each column of numbers of a CSV file.
//
//     outcrop dispatch --objective "means" --data wines.csv -- node column_means.mjs

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const request = JSON.parse(readFileSync(0, "utf8"));            // one line on stdin, then end of file
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const finish = (fields) => say({ type: "completion", dispatch_id: request.dispatch_id, results: {}, ...fields });

say({ type: "started", dispatch_id: request.dispatch_id, pid: process.pid });
const [name] = request.context.data ?? [];
if (!name) {
  finish({ status: "error", errors: ["no data file was given"] });
} else {
  const [head, ...lines] = readFileSync(join(request.workspace, name), "utf8").trim().split(/\r?\n/);
  say({ type: "progress", text: `reading ${name}`, done: 0, total: lines.length });
  const rows = lines.map((line) => line.split(",").map(Number));
  const means = {};
  head.split(",").forEach((column, at) => {
    const numbers = rows.map((row) => row[at]).filter(Number.isFinite);
    if (numbers.length === rows.length) means[column] = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  });
  const path = join(request.results_dir, `column_means_${request.dispatch_id}.json`);
  writeFileSync(path, JSON.stringify(means));
  const summary = `means of ${Object.keys(means).length} columns of ${rows.length} rows`;
  finish({ status: "success", summary, results: means, artifacts: [{ path, kind: "other", title: "Means" }] });
}
