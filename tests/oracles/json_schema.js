// SPDX-License-Identifier: Apache-2.0
// Reads lines of {"schema", "documents"} and answers each with a list: whether ajv takes each document. OpenAPI writes
// exclusive bounds as flags beside the bound, ajv as bounds of their own.
'use strict';
const Ajv = require('ajv');

const translate = (schema) => {
  if (Array.isArray(schema)) return schema.map(translate);
  if (schema === null || typeof schema !== 'object') return schema;
  const out = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, translate(inner)]));
    } else if (key === 'enum' || key === 'required') {
      out[key] = value;
    } else {
      out[key] = translate(value);
    }
  }
  for (const [flag, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']]) {
    if (out[flag] === true && out[bound] !== undefined) {
      out[flag] = out[bound];
      delete out[bound];
    } else {
      delete out[flag];
    }
  }
  return out;
};

const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
const out = [];
for (const line of lines) {
  const { schema, documents } = JSON.parse(line);
  const ajv = new Ajv({ strict: false, validateSchema: false });
  const validate = ajv.compile(translate(schema));
  out.push(JSON.stringify(documents.map((document) => validate(document))));
}
process.stdout.write(out.join('\n') + '\n');
