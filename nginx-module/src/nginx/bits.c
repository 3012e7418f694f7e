/*
 * The bit fields of a request. Since nginx 1.29.3 a 16-bit member stands before them, and bindgen (0.72) then puts them
 * two bits beside where C has them (rust-bindgen#3105).
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#define READ(field)                                                           \
    ngx_uint_t crawlward_##field(const ngx_http_request_t *r) {               \
        return r->field;                                                      \
    }

#define SET(field)                                                            \
    void crawlward_set_##field(ngx_http_request_t *r) {                       \
        r->field = 1;                                                         \
    }

READ(error_page)
READ(header_only)
READ(uri_changes)
SET(disable_not_modified)
SET(expect_tested)
