import '/imported-by-module-worker.js';
fetch('/fetch-by-module-worker').finally(() => postMessage('done'));
