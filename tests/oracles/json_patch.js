// SPDX-License-Identifier: Apache-2.0
// Reads lines of {"document", "patch", "merge"} and answers each with {"patched"} or {"error"} of fast-json-patch, the
// patch from `document` to `merge` that fast-json-patch makes, and the RFC 7386 result of json-merge-patch.
'use strict';
const { applyPatch, compare } = require('fast-json-patch');
const mergePatch = require('json-merge-patch');

const copy = (value) => JSON.parse(JSON.stringify(value));
const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
const out = [];
for (const line of lines) {
  const { document, patch, merge } = JSON.parse(line);
  const answer = { between: compare(document, merge), merged: mergePatch.apply(copy(document), copy(merge)) };
  try {
    answer.patched = applyPatch(copy(document), copy(patch), true).newDocument;
    if (answer.patched === undefined) answer.patched = null;
  } catch (error) {
    answer.error = String(error.name);
  }
  out.push(JSON.stringify(answer));
}
process.stdout.write(out.join('\n') + '\n');
