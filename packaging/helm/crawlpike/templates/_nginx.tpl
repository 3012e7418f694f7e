{{- define "crawlpike.nginx.configuration" -}}
{{- $nginx := .Values.nginx -}}
load_module modules/ngx_http_crawlpike_module.so;

worker_processes {{ $nginx.workerProcesses }};
pid /tmp/nginx.pid;
error_log stderr notice;

events {
    worker_connections 1024;
}

http {
    # The root file system is read-only.
    client_body_temp_path /tmp/client_body;
    proxy_temp_path       /tmp/proxy;
    fastcgi_temp_path     /tmp/fastcgi;
    uwsgi_temp_path       /tmp/uwsgi;
    scgi_temp_path        /tmp/scgi;

    server_tokens off;
    log_format crawlpike '$remote_addr [$time_iso8601] "$request" $status $body_bytes_sent "$http_user_agent" '
                         '$crawlpike_action $crawlpike_enforced $crawlpike_identity $crawlpike_agent $crawlpike_reason';
    access_log /dev/stdout crawlpike;

    crawlpike_config  {{ include "crawlpike.configFile" . }};
    crawlpike_refresh {{ $nginx.refresh }};
    {{- if $nginx.trustedProxies }}

    # The address of the client is what these proxies say.
    real_ip_header    {{ $nginx.realIpHeader }};
    real_ip_recursive on;
    {{- range $nginx.trustedProxies }}
    set_real_ip_from  {{ . }};
    {{- end }}
    {{- end }}

    map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
    map $http_x_forwarded_proto $forwarded_proto { default $http_x_forwarded_proto; "" $scheme; }
    {{- with $nginx.httpSnippet }}
    {{- . | trim | nindent 4 }}
    {{- end }}

    server {
        listen 8080 default_server;
        listen [::]:8080 default_server;
        {{- with $nginx.serverSnippet }}
        {{- . | trim | nindent 8 }}
        {{- end }}

        location / {
            proxy_pass {{ required "nginx.upstream is required: the URL of your service, such as http://app.default.svc.cluster.local:8080" $nginx.upstream }};
            proxy_http_version 1.1;
            proxy_set_header Host              $http_host;
            proxy_set_header X-Forwarded-For   $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $forwarded_proto;
            proxy_set_header Upgrade           $http_upgrade;
            proxy_set_header Connection        $connection_upgrade;
        }
    }

    # Probes and metrics, not for clients: no Service has this port.
    server {
        listen 8081;
        listen [::]:8081;
        crawlpike off;
        access_log off;

        location = /healthz { return 200 "ok\n"; }
        location = /metrics { crawlpike_status; }
    }
}
{{- end -}}
