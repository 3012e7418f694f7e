importScripts('/imported-by-service-worker.js');
addEventListener('install', (event) => event.waitUntil(caches.open('a').then((cache) => cache.addAll(['/cached'])).then(() => skipWaiting())));
addEventListener('activate', (event) => event.waitUntil(registration.navigationPreload?.enable().catch(() => {}).then(() => clients.claim()) ?? clients.claim()));
addEventListener('fetch', (event) => event.respondWith((async () => (await event.preloadResponse) ?? fetch(event.request))()));
