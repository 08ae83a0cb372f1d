import { openEmbeddedLog } from './index.ts';
import fs from 'node:fs';
const directory = '/work/main/.zz-bench';
fs.rmSync(directory, { recursive: true, force: true });
let t = performance.now();
const log = await openEmbeddedLog({ directory });
console.log('open', performance.now() - t);
const med = (a: number[]) => {
  a.sort((x, y) => x - y);
  return `${a[a.length >> 1]!.toFixed(1)}us p99 ${a[Math.floor(a.length * 0.99)]!.toFixed(0)}`;
};
const bytes = Buffer.alloc(700, 7);
{
  const fd = fs.openSync(directory + '/bare', 'w+');
  fs.writeSync(fd, Buffer.alloc(8 << 20));
  fs.fsyncSync(fd);
  const a = [];
  let p = 0;
  for (let i = 0; i < 2000; i++) {
    const t = process.hrtime.bigint();
    fs.writeSync(fd, bytes, 0, 700, p);
    p += 700;
    fs.fdatasyncSync(fd);
    a.push(Number(process.hrtime.bigint() - t) / 1000);
  }
  console.log('bare', med(a));
}
{
  const a = [];
  for (let i = 0; i < 2000; i++) {
    const t = process.hrtime.bigint();
    await log.append(0, [{ key: 'h', bytes }]);
    a.push(Number(process.hrtime.bigint() - t) / 1000);
  }
  console.log('append', med(a));
}
for (const n of [10, 100, 1000]) {
  t = performance.now();
  const N = 100000;
  for (let i = 0; i < N; i += n)
    await Promise.all(Array.from({ length: n }, () => log.append(0, [{ key: 'h', bytes }])));
  console.log('grouped appends of', n, (N / (performance.now() - t)).toFixed(1), 'k/s');
}
{
  const N = 200000;
  t = performance.now();
  for (let i = 0; i < N; i += 1000)
    await log.append(
      0,
      Array.from({ length: 1000 }, () => ({ key: 'h', bytes })),
    );
  console.log('batches of 1000', (N / (performance.now() - t)).toFixed(1), 'k/s');
}
{
  t = performance.now();
  let n = 0,
    b = 0;
  for (let at = 0; ;) {
    const r = await log.read(0, at);
    if (!r.records.length) break;
    n += r.records.length;
    at = r.next;
    b = at;
  }
  const s = performance.now() - t;
  console.log('read', (n / s).toFixed(0), 'k/s', (b / s / 1000).toFixed(0), 'MB/s');
}
t = performance.now();
await log.close();
console.log('close', performance.now() - t);
console.log(fs.readdirSync(directory + '/0').map((f) => f + ' ' + fs.statSync(directory + '/0/' + f).size));
fs.rmSync(directory, { recursive: true, force: true });
