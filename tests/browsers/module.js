import '/imported-by-module.js';
