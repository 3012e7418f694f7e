# Run by nginx's configure: adds the module to its Makefile.
cat <<END >>$NGX_MAKEFILE

modules:	$NGX_OBJS/ngx_http_crawlpike_module.so

$NGX_OBJS/ngx_http_crawlpike_module.so:	$NGX_MAKEFILE
	NGINX_SOURCE_DIR=$PWD NGINX_BUILD_DIR=$PWD/$NGX_OBJS \$(MAKE) -C /usr/src/crawlpike native \\
	    SETUP=true NATIVE=crawlpike-nginx CARGO='cargo --offline --locked' DIST=$PWD/$NGX_OBJS

END
