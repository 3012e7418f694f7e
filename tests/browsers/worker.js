importScripts('/imported-by-worker.js');
fetch('/fetch-by-worker').finally(() => postMessage('done'));
