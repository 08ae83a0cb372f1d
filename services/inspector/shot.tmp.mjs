import { chromium } from 'playwright-core';
const [,, out, path, size='1440x900', scheme='light', ...keys] = process.argv;
const [width,height]=size.split('x').map(Number);
const b=await chromium.launch({executablePath:'/usr/bin/chromium',args:['--no-sandbox','--disable-gpu']});
const p=await b.newPage({viewport:{width,height},colorScheme:scheme});
p.on('console',m=>['error','warning'].includes(m.type())&&console.log('console',m.text()));
p.on('pageerror',e=>console.log('error',e.message));
await p.goto('http://127.0.0.1:7899/'+path);
await p.waitForTimeout(1800);
for(const k of keys){ if(k.startsWith('click:')) await p.locator(k.slice(6)).first().click(); else if(k.startsWith('type:')) await p.keyboard.type(k.slice(5)); else if(k.startsWith('fill:')){const [sel,t]=k.slice(5).split('=>'); await p.locator(sel).first().fill(t);} else await p.keyboard.press(k); await p.waitForTimeout(500);}
console.log(p.url());
await p.screenshot({path:'/tmp/shots/'+out+'.png'});
await b.close();
