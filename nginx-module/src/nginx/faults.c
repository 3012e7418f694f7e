/* Functions of nginx that fail on demand: see tests/faults/faults.h. */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <ngx_thread_pool.h>

#include "faults.h"

#define MEMORY(type, name, parameters, arguments) FALLIBLE(FAULTS_MEMORY, type *, name, NULL, parameters, arguments)
#define HOST(name, parameters, arguments) FALLIBLE(FAULTS_HOST, ngx_int_t, name, NGX_ERROR, parameters, arguments)
#define STATUS(name, parameters, arguments) \
    FALLIBLE(FAULTS_HOST, ngx_int_t, name, NGX_HTTP_INTERNAL_SERVER_ERROR, parameters, arguments)
#define FINDS(type, name, parameters, arguments) FALLIBLE(FAULTS_HOST, type *, name, NULL, parameters, arguments)

MEMORY(void, ngx_palloc, (ngx_pool_t *pool, size_t size), (pool, size))
MEMORY(void, ngx_pnalloc, (ngx_pool_t *pool, size_t size), (pool, size))
MEMORY(ngx_pool_cleanup_t, ngx_pool_cleanup_add, (ngx_pool_t *pool, size_t size), (pool, size))
MEMORY(ngx_array_t, ngx_array_create, (ngx_pool_t *pool, ngx_uint_t n, size_t size), (pool, n, size))
MEMORY(void, ngx_array_push, (ngx_array_t *array), (array))
MEMORY(void, ngx_list_push, (ngx_list_t *list), (list))
MEMORY(void, ngx_slab_alloc_locked, (ngx_slab_pool_t *pool, size_t size), (pool, size))
MEMORY(ngx_http_cleanup_t, ngx_http_cleanup_add, (ngx_http_request_t *r, size_t size), (r, size))
MEMORY(ngx_thread_task_t, ngx_thread_task_alloc, (ngx_pool_t *pool, size_t size), (pool, size))

FINDS(ngx_shm_zone_t, ngx_shared_memory_add, (ngx_conf_t *cf, ngx_str_t *name, size_t size, void *tag), (cf, name, size, tag))
FINDS(ngx_http_variable_t, ngx_http_add_variable, (ngx_conf_t *cf, ngx_str_t *name, ngx_uint_t flags), (cf, name, flags))
FINDS(ngx_thread_pool_t, ngx_thread_pool_add, (ngx_conf_t *cf, ngx_str_t *name), (cf, name))
FINDS(ngx_thread_pool_t, ngx_thread_pool_get, (ngx_cycle_t *cycle, ngx_str_t *name), (cycle, name))
FINDS(ngx_resolver_ctx_t, ngx_resolve_start, (ngx_resolver_t *resolver, ngx_resolver_ctx_t *query), (resolver, query))

HOST(ngx_http_complex_value, (ngx_http_request_t *r, ngx_http_complex_value_t *value, ngx_str_t *text), (r, value, text))
HOST(ngx_http_compile_complex_value, (ngx_http_compile_complex_value_t *compile), (compile))
HOST(ngx_conf_full_name, (ngx_cycle_t *cycle, ngx_str_t *name, ngx_uint_t prefix), (cycle, name, prefix))
HOST(ngx_thread_task_post, (ngx_thread_pool_t *pool, ngx_thread_task_t *task), (pool, task))
HOST(ngx_resolve_name, (ngx_resolver_ctx_t *query), (query))
HOST(ngx_resolve_addr, (ngx_resolver_ctx_t *query), (query))
HOST(ngx_handle_read_event, (ngx_event_t *event, ngx_uint_t flags), (event, flags))
STATUS(ngx_http_discard_request_body, (ngx_http_request_t *r), (r))
HOST(ngx_http_send_header, (ngx_http_request_t *r), (r))
HOST(ngx_http_output_filter, (ngx_http_request_t *r, ngx_chain_t *chain), (r, chain))
