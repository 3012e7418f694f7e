/*
 * The bit fields of a request. Since nginx 1.29.3 a 16-bit member precedes them, and bindgen (0.72) then puts them two
 * bits beside where C has them (rust-bindgen#3105). And a member that some builds of nginx lack.
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#define READ(field)                                                           \
    ngx_uint_t bits_##field(const ngx_http_request_t *r) {                    \
        return r->field;                                                      \
    }

#define SET(field)                                                            \
    void bits_set_##field(ngx_http_request_t *r) {                            \
        r->field = 1;                                                         \
    }

READ(error_page)
READ(header_only)
READ(keepalive)
READ(uri_changes)
SET(disable_not_modified)
SET(expect_tested)
SET(main_filter_need_in_memory)

/* The client has left, or nginx gives it up. */
ngx_uint_t bits_is_client_gone(const ngx_http_request_t *r) {
    return r->connection->error;
}

/* The connection ends with the response. */
void bits_end_connection(ngx_http_request_t *r) {
    r->keepalive = 0;
}

/* 1 if the response is from nginx's own cache, 2 if the upstream has said that it is current, otherwise 0. */
ngx_uint_t bits_from_cache(const ngx_http_request_t *r) {
#if (NGX_HTTP_CACHE)
    switch (r->upstream == NULL ? 0 : r->upstream->cache_status) {
    case NGX_HTTP_CACHE_HIT:
    case NGX_HTTP_CACHE_STALE:
    case NGX_HTTP_CACHE_UPDATING:
        return 1;
    case NGX_HTTP_CACHE_REVALIDATED:
        return 2;
    }
#endif
    return 0;
}

/* The body is not the one of which an upstream or a file has ranges. */
void bits_forbid_ranges(ngx_http_request_t *r) {
    r->allow_ranges = 0;
}

/* The path is no longer the one that the client sent. */
void bits_forget_sent_uri(ngx_http_request_t *r) {
    r->valid_unparsed_uri = 0;
}

/* That a filter waits is said as nginx's filter for images says it. */
void bits_set_waiting(ngx_http_request_t *r, ngx_uint_t is_waiting) {
    if (is_waiting) {
        r->connection->buffered |= 0x08;
    } else {
        r->connection->buffered &= ~0x08;
    }
}

/* A connection has this member only if nginx was built with TLS, or such that modules with TLS can be loaded. */
ngx_uint_t bits_is_encrypted(const ngx_http_request_t *r) {
#if (NGX_SSL || NGX_COMPAT)
    return r->connection->ssl != NULL;
#else
    return 0;
#endif
}
