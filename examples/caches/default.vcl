# A cache in front of the service: varnishd -F -n FOLDER -a 127.0.0.1:8081 -f ./default.vcl -p http_gzip_support=off
# The service beside it: store-directory serve --cache-control 'max-age=0, s-maxage=60'
# Varnish's own VCL runs behind each of these: what the service calls `private` or `no-store` is not stored, and what is
# stored goes to those alone who send the same key. So nothing here may `return`.
vcl 4.1;

import std;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_recv {
    # Of a header that stands more than once Varnish compares the first line. The service judges them all.
    std.collect(req.http.x-api-key);
    std.collect(req.http.X-Dataset-Version);
    std.collect(req.http.Prefer);
    # One copy for each coding, and not for each way to write Accept-Encoding: first what is refused goes (q=0), then the
    # best of the others is named. Without http_gzip_support=off Varnish asks for gzip alone.
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
    # The service knows no cookies, and Varnish stores nothing for those who send one.
    unset req.http.Cookie;
}

sub vcl_backend_response {
    # What does not say how long it is fresh is not stored (Varnish's own way is two minutes).
    if (beresp.http.Cache-Control !~ "max-age=") {
        set beresp.uncacheable = true;
    }
    # Nothing is served longer than it is fresh (Varnish's own way is 10 seconds more): a key may have been withdrawn.
    set beresp.grace = 0s;
    # So long it is kept, to be asked for with If-None-Match: where it did not change, a 304 comes, and no body.
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
