/*
 * Work in nginx's thread pool, for a request that waits for it. A build of nginx without threads has no pool.
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#if (NGX_THREADS)

#include <ngx_thread_pool.h>

/* tests/sanitize/run: helgrind knows the locks of the C library, but not the one of nginx's queue of work that is done. */
#ifdef CRAWLPIKE_HELGRIND
#include <valgrind/helgrind.h>
#else
#define ANNOTATE_HAPPENS_BEFORE(work)
#define ANNOTATE_HAPPENS_AFTER(work)
#endif

typedef struct {
    ngx_http_request_t *request;
    const void *work;
    void (*run)(const void *work);
    void (*done)(const void *work);
} threads_work_t;

/* In a thread: it may use the work, and nothing else. */
static void threads_run(void *data, ngx_log_t *log) {
    threads_work_t *work = data;

    work->run(work->work);
    ANNOTATE_HAPPENS_BEFORE(work);
}

/*
 * In the main thread, after threads_run(): the locks of nginx's pool order the two. Then as nginx's own filter that reads
 * files in threads.
 */
static void threads_done(ngx_event_t *ev) {
    threads_work_t *work = ev->data;
    ngx_http_request_t *r = work->request;
    ngx_connection_t *c = r->connection;

    ANNOTATE_HAPPENS_AFTER(work);
    ngx_http_set_log_request(c->log, r);

    r->main->blocked--;
    r->aio = 0;
    work->done(work->work);

    /* A request that was finalized or terminated meanwhile is ended by the handler of its connection. */
#if (nginx_version >= 1025004)
    if (r->done || r->main->terminated) {
#else
    if (r->done) {
#endif
        c->write->handler(c->write);
    } else {
        r->write_event_handler(r);
        ngx_http_run_posted_requests(c);
    }
}

/* Makes sure that the configuration has the pool that is called "default". */
ngx_int_t threads_need(ngx_conf_t *cf) {
    return ngx_thread_pool_add(cf, NULL) == NULL ? NGX_ERROR : NGX_OK;
}

/*
 * Calls run() in a thread, then done() and the write handler of the request in the main thread. The request lives at least
 * that long. NGX_DECLINED: neither is called, because there is no pool, or no room in its queue.
 */
ngx_int_t threads_post(ngx_http_request_t *r, const void *data, void (*run)(const void *work),
                       void (*done)(const void *work)) {
    ngx_str_t name = ngx_string("default");
    ngx_thread_pool_t *pool = ngx_thread_pool_get((ngx_cycle_t *) ngx_cycle, &name);
    ngx_thread_task_t *task;
    threads_work_t *work;

    if (pool == NULL || r->aio) {
        return NGX_DECLINED;
    }
    task = ngx_thread_task_alloc(r->pool, sizeof(threads_work_t));
    if (task == NULL) {
        return NGX_DECLINED;
    }
    work = task->ctx;
    work->request = r;
    work->work = data;
    work->run = run;
    work->done = done;
    task->handler = threads_run;
    task->event.data = work;
    task->event.handler = threads_done;
    task->event.log = r->connection->log;

    if (ngx_thread_task_post(pool, task) != NGX_OK) {
        return NGX_DECLINED;
    }
    r->main->blocked++;
    r->aio = 1;
    return NGX_OK;
}

#else

ngx_int_t threads_need(ngx_conf_t *cf) {
    return NGX_OK;
}

ngx_int_t threads_post(ngx_http_request_t *r, const void *data, void (*run)(const void *work),
                       void (*done)(const void *work)) {
    return NGX_DECLINED;
}

#endif
