// Says how long a program stood still for collections: node pauses.mjs run.eventlog
// Ends with status 1 if any of them was longer than 10 ms.

import process from 'node:process';
import { analyse } from 'eventscope';

const [path] = process.argv.slice(2);
const { program, events, numbers, findings } = await analyse(path);

const ms = (ns) => (ns / 1e6).toFixed(2) + ' ms';
console.log(`${program}: ${events} events`);
console.log(`${numbers['gc.count']} collections took ${ms(numbers['gc.time'])}`);
if (numbers['gc.pause.max'] !== undefined) console.log(`the longest pause was ${ms(numbers['gc.pause.max'])}`);
for (const { severity, title } of findings.findings) console.log(`${severity}: ${title}`);
process.exitCode = numbers['gc.pause.max'] > 10e6 ? 1 : 0;
