# A cache in front of the service: varnishd -F -n FOLDER -a 127.0.0.1:8081 -f ./default.vcl -p http_gzip_support=off
# The service: store-directory serve --cache-control 'max-age=0, s-maxage=60'
# Varnish's built-in VCL runs after each of these subroutines. It does not store `private` and `no-store` responses, and serves
# stored ones only to requests with the same key (Vary). So nothing here may `return`.
vcl 4.1;

import std;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_recv {
    # Varnish compares only the first line of a repeated header. Join the lines: the service checks them all.
    std.collect(req.http.x-api-key);
    std.collect(req.http.X-Dataset-Version);
    std.collect(req.http.Prefer);
    # Store one copy per coding, not per spelling of Accept-Encoding: remove codings with q=0, then keep only the best of the
    # others. Without http_gzip_support=off Varnish would request gzip only.
    std.collect(req.http.Accept-Encoding);
    set req.http.Accept-Encoding = regsuball(req.http.Accept-Encoding, "(?i)[^,]*;\s*q=0(\.0*)?\s*(,|$)", "");
    if (req.http.Accept-Encoding ~ "(?i)(^|[\s,])zstd($|[\s,;])") {
        set req.http.Accept-Encoding = "zstd";
    } elseif (req.http.Accept-Encoding ~ "(?i)(^|[\s,])br($|[\s,;])") {
        set req.http.Accept-Encoding = "br";
    } elseif (req.http.Accept-Encoding ~ "(?i)(^|[\s,])gzip($|[\s,;])") {
        set req.http.Accept-Encoding = "gzip";
    } else {
        unset req.http.Accept-Encoding;
    }
    # The service uses no cookies, and Varnish does not store responses to requests with one.
    unset req.http.Cookie;
}

sub vcl_backend_response {
    # Do not store responses without explicit freshness (by default Varnish assumes two minutes).
    if (beresp.http.Cache-Control !~ "max-age=") {
        set beresp.uncacheable = true;
    }
    # Without a length, a response is a file of records. Fetch all of it first: if the service ends meanwhile, the client gets
    # a 503. Of one that is sent while it is fetched, Varnish may send the last chunk, as if it were whole.
    if (!beresp.http.Content-Length) {
        set beresp.do_stream = false;
    }
    # Do not serve stale responses (by default Varnish does for 10 seconds): a key may have been revoked.
    set beresp.grace = 0s;
    # Keep stale entries this long, to revalidate them with If-None-Match: a 304 saves the body.
    set beresp.keep = 1h;
    if (beresp.was_304) {
        set beresp.http.x-cache = "REVALIDATED";
    } else {
        set beresp.http.x-cache = "MISS";
    }
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.x-cache = "HIT";
    }
}
