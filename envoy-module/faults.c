/* Callbacks of Envoy that fail on demand: see tests/faults/faults.h. The module looks them up by their names. */
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *data;
    size_t length;
} buffer;
typedef void *envoy;

#define PREFIX "envoy_dynamic_module_callback_"

void *__real_dlsym(void *library, const char *symbol);

#define CALLBACKS(CALL)                                                                                                        \
    CALL(bool, http_get_headers, false, (envoy e, unsigned kind, void *found), (e, kind, found))                               \
    CALL(bool, http_set_header, false, (envoy e, unsigned kind, buffer n, buffer v), (e, kind, n, v))                          \
    CALL(bool, http_add_header, false, (envoy e, unsigned kind, buffer n, buffer v), (e, kind, n, v))                          \
    CALL(bool, http_filter_get_attribute_string, false, (envoy e, unsigned which, buffer *found), (e, which, found))           \
    CALL(bool, http_set_filter_state_bytes, false, (envoy e, buffer n, buffer v), (e, n, v))                                   \
    CALL(bool, http_get_body_chunks, false, (envoy e, unsigned kind, buffer *found), (e, kind, found))                         \
    CALL(bool, http_drain_body, false, (envoy e, unsigned kind, size_t size), (e, kind, size))                                 \
    CALL(bool, http_append_body, false, (envoy e, unsigned kind, buffer bytes), (e, kind, bytes))                              \
    CALL(unsigned, http_filter_config_define_counter, 1, (envoy e, buffer n, const buffer *l, size_t c, size_t *id),           \
         (e, n, l, c, id))                                                                                                     \
    CALL(unsigned, http_filter_config_define_gauge, 1, (envoy e, buffer n, const buffer *l, size_t c, size_t *id),             \
         (e, n, l, c, id))                                                                                                     \
    CALL(unsigned, http_filter_increment_counter, 1, (envoy e, size_t id, const buffer *l, size_t c, uint64_t by),             \
         (e, id, l, c, by))                                                                                                    \
    CALL(unsigned, http_filter_set_gauge, 1, (envoy e, size_t id, const buffer *l, size_t c, uint64_t to), (e, id, l, c, to))  \
    CALL(envoy, http_filter_config_scheduler_new, NULL, (envoy e), (e))                                                        \
    CALL(envoy, http_filter_scheduler_new, NULL, (envoy e), (e))                                                               \
    CALL(unsigned, http_filter_config_http_callout, 1,                                                                         \
         (envoy e, uint64_t *id, buffer n, const void *headers, size_t c, buffer body, uint64_t wait),                         \
         (e, id, n, headers, c, body, wait))                                                                                   \
    CALL(unsigned, http_filter_config_increment_counter, 1, (envoy e, size_t id, const buffer *l, size_t c, uint64_t by),      \
         (e, id, l, c, by))                                                                                                    \
    CALL(unsigned, http_filter_config_set_gauge, 1, (envoy e, size_t id, const buffer *l, size_t c, uint64_t to),              \
         (e, id, l, c, to))                                                                                      

#define DEFINE(type, name, failure, parameters, arguments)                                    \
    static type failing_##name parameters {                                                   \
        type(*real) parameters = (type(*) parameters) __real_dlsym(RTLD_DEFAULT, PREFIX #name); \
        return faults_due(FAULTS_HOST, #name) ? (failure) : real arguments;                   \
    }
CALLBACKS(DEFINE)

/* Envoy frees the object even if it refuses it. */
static bool failing_http_set_filter_state_object(envoy e, buffer n, void *object, void (*destroy)(void *), unsigned life) {
    bool (*real)(envoy, buffer, void *, void (*)(void *), unsigned) =
        (bool (*)(envoy, buffer, void *, void (*)(void *), unsigned)) __real_dlsym(
            RTLD_DEFAULT, PREFIX "http_set_filter_state_object");

    if (faults_due(FAULTS_HOST, "http_set_filter_state_object")) {
        destroy(object);
        return false;
    }
    return real(e, n, object, destroy, life);
}

#define ROW(type, name, failure, parameters, arguments) {PREFIX #name, (void *) failing_##name},
static const struct {
    const char *symbol;
    void *failing;
} callbacks[] = {
    CALLBACKS(ROW){PREFIX "http_set_filter_state_object", (void *) failing_http_set_filter_state_object},
};

void *__wrap_dlsym(void *library, const char *symbol);

void *__wrap_dlsym(void *library, const char *symbol) {
    void *found = __real_dlsym(library, symbol);

    for (size_t index = 0; found != NULL && index < sizeof(callbacks) / sizeof(callbacks[0]); index++) {
        if (strcmp(callbacks[index].symbol, symbol) == 0) {
            return callbacks[index].failing;
        }
    }
    return found;
}
