// Each step may fail: what counts is the request.
const other = location.origin.replace('127.0.0.1', 'localhost');
const soon = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 3000))]).catch(() => {});
const loaded = (element) => soon(new Promise((done) => { element.onload = element.onerror = done; document.body.append(element); }));
const made = (name, members) => Object.assign(document.createElement(name), members);
const steps = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => () => fetch('/fetch-' + method, { method })),
  () => fetch('/fetch-redirect'),
  () => fetch('/fetch-no-store', { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' }),
  () => fetch('/fetch-keepalive', { method: 'POST', keepalive: true, body: 'a' }),
  () => fetch('/fetch-range', { headers: { Range: 'bytes=0-1' } }),
  () => fetch(other + '/fetch-no-cors', { mode: 'no-cors' }),
  () => fetch(other + '/fetch-cors'),
  () => fetch(other + '/fetch-with-a-question-before', { headers: { 'X-Own': 'a' } }),
  () => new Promise((done) => { const request = new XMLHttpRequest(); request.onloadend = done; request.open('GET', '/xhr'); request.send(); }),
  () => navigator.sendBeacon('/beacon', 'a'),
  () => loaded(made('img', { src: other + '/image-elsewhere.png' })),
  () => loaded(made('script', { src: other + '/script-elsewhere.js' })),
  () => loaded(made('link', { rel: 'stylesheet', href: other + '/style-elsewhere.css' })),
  () => loaded(made('iframe', { src: other + '/frame-elsewhere.html' })),
  () => import('/imported.js'),
  () => new Promise((done) => { const source = new EventSource('/events'); source.onerror = () => { source.close(); done(); }; }),
  () => new Promise((done) => { new WebSocket(location.origin.replace('http', 'ws') + '/socket').onclose = done; }),
  () => new Promise((done) => { new Worker('/worker.js').onmessage = done; }),
  () => new Promise((done) => { new Worker('/module-worker.js', { type: 'module' }).onmessage = done; }),
  () => new Promise((done) => { new SharedWorker('/shared-worker.js').port.onmessage = done; }),
  () => navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready),
  () => navigator.serviceWorker.getRegistration().then((registration) => registration.update()),
  () => new FontFace('a', 'url(/font-by-script.woff2)').load(),
  () => new Audio('/audio-by-script.ogg').play(),
  () => CSS.paintWorklet?.addModule('/paint-worklet.js'),
  () => new AudioContext().audioWorklet.addModule('/audio-worklet.js'),
  () => fetch('/image-to-decode.png').then((response) => response.blob()).then(createImageBitmap),
  ...['get', 'post', 'file'].map((form) => () => new Promise((done) => {
    document.querySelector('iframe[name=frame]').onload = done;
    document.getElementById(form).submit();
  })),
  () => document.getElementById('ping').click(),
  () => document.getElementById('download').click(),
  () => document.getElementById('attachment').click(),
  () => new Promise((done) => { const opened = open('/opened.html'); setTimeout(() => { opened?.close(); done(); }, 1000); }),
  () => document.querySelector('[loading=lazy]').scrollIntoView(),
  () => new Promise((done) => setTimeout(done, 2000)),
];
addEventListener('load', async () => {
  for (const step of steps) {
    await soon(Promise.resolve().then(step));
  }
  location = '/second.html';
});
