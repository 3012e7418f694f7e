onconnect = (event) => fetch('/fetch-by-shared-worker').finally(() => event.ports[0].postMessage('done'));
