import sys
d=open(sys.argv[1],'rb').read(); p=8
def leb(b,i):
    r=s=0
    while 1:
        x=b[i]; i+=1; r|=(x&127)<<s; s+=7
        if x<128: return r,i
N={0:'custom',1:'type',2:'import',3:'func',4:'table',5:'mem',6:'global',7:'export',8:'start',9:'elem',10:'code',11:'data',12:'datacount'}
while p<len(d):
    t=d[p]; n,q=leb(d,p+1); s=d[q:q+n]; p=q+n; name=N[t]
    if t==0:
        l,i=leb(s,0); name+=' '+s[i:i+l].decode()
    print(name,n)
    if t==2:
        c,i=leb(s,0)
        for _ in range(c):
            l,i=leb(s,i); m=s[i:i+l]; i+=l; l,i=leb(s,i); f=s[i:i+l]; i+=l; k=s[i]; i+=1
            _,i=leb(s,i); print('   ',m.decode(),f.decode())
    if t==7:
        c,i=leb(s,0); o=[]
        for _ in range(c):
            l,i=leb(s,i); o.append(s[i:i+l].decode()); i+=l+1; _,i=leb(s,i)
        print('   ',*o)
