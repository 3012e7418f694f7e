/*
 * Work in nginx's thread pool, for a request that waits for it. A build of nginx without threads has no pool.
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#if (NGX_THREADS)

#include <ngx_thread_pool.h>

typedef struct {
    ngx_http_request_t *request;
    void *work;
    void (*run)(void *work);
} threads_work_t;

static void threads_run(void *data, ngx_log_t *log) {
    threads_work_t *work = data;

    work->run(work->work);
}

/* As nginx's own filter that reads files in threads. */
static void threads_done(ngx_event_t *ev) {
    threads_work_t *work = ev->data;
    ngx_http_request_t *r = work->request;
    ngx_connection_t *c = r->connection;

    ngx_http_set_log_request(c->log, r);

    r->main->blocked--;
    r->aio = 0;

    if (r->done) {
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
 * Runs work in a thread, then calls the write handler of the request in the main thread. The request lives at least that
 * long. NGX_DECLINED: there is no pool, or no room in its queue.
 */
ngx_int_t threads_post(ngx_http_request_t *r, void *data, void (*run)(void *work)) {
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

ngx_int_t threads_post(ngx_http_request_t *r, void *data, void (*run)(void *work)) {
    return NGX_DECLINED;
}

#endif
